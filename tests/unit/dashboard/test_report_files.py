"""Reports are found by listing their folder."""

from __future__ import annotations

from worker.dashboard import report_files


def test_only_plain_html_files_of_the_folder_are_listed(tmp_path):
    folder = tmp_path / "reports"
    folder.mkdir()
    (tmp_path / "secret.html").write_text("secret")
    (folder / "run-1.html").write_text("<p>one</p>")
    (folder / "run-1.json").write_text("{}")
    (folder / "link.html").symlink_to(tmp_path / "secret.html")
    (folder / "sub.html").mkdir()

    assert [each.name for each in report_files.listed(folder)] == ["run-1.html"]
    assert report_files.read(folder, "run-1.html") == b"<p>one</p>"
    for name in ("link.html", "../secret.html", "run-1.json", "sub.html"):
        assert report_files.read(folder, name) is None


def test_no_folder_is_an_empty_list(tmp_path):
    assert report_files.listed(None) == []
    assert report_files.listed(tmp_path / "nowhere") == []


def test_a_report_may_use_its_own_sheets_and_nothing_else():
    policy = report_files.policy_of(b"<style>p { color: red }</style><script>x</script>")

    assert "style-src 'sha256-" in policy
    assert "script" not in policy
    assert "default-src 'none'" in policy
    assert "style-src 'none'" in report_files.policy_of(b"<p>plain</p>")
