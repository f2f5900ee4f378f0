"""Getting work in: from files and streams of any size, line by line, with every bad line named."""
