-- name: not_at_closed_sites
-- A condition: leave out jobs that go to a site which lets nothing through now.
AND (site IS NULL OR site NOT IN %(closed_sites)s)

-- name: not_in_closed_queues
-- A condition: leave out jobs of queues that are paused or have reached their limit.
AND queue NOT IN %(closed_queues)s

-- name: not_of_closed_tasks
-- A condition: leave out jobs of tasks that have reached their limit.
AND task NOT IN %(closed_tasks)s

-- name: not_of_tasks_failing_at_sites
-- A condition: leave out jobs whose task is held back at their site.
AND (site IS NULL OR CONCAT(task, '@', site) NOT IN %(failing_at_sites)s)

-- name: not_of_tasks_failing_in_profiles
-- A condition: leave out jobs whose task is held back in their profile.
AND (profile IS NULL OR CONCAT(task, '@', profile) NOT IN %(failing_in_profiles)s)

-- name: not_of_closed_accounts
-- A condition: leave out jobs of accounts that cannot be used now.
AND (account IS NULL OR account NOT IN %(closed_accounts)s)

-- name: not_of_closed_profiles
-- A condition: leave out jobs of profiles that are busy or not ready.
AND (profile IS NULL OR profile NOT IN %(closed_profiles)s)

-- name: of_closed_owners
-- A condition: only jobs of profiles and accounts that cannot be used now.
AND (profile IN %(closed_profiles)s OR account IN %(closed_accounts)s)

-- name: is_anything_gated
-- Tell in one look whether anybody uses limits, breakers, proxies, profiles, accounts or
-- paused queues at all.
SELECT EXISTS (SELECT 1 FROM limits) OR EXISTS (SELECT 1 FROM breakers)
       OR EXISTS (SELECT 1 FROM proxies) OR EXISTS (SELECT 1 FROM profiles)
       OR EXISTS (SELECT 1 FROM accounts)
       OR EXISTS (SELECT 1 FROM control WHERE name LIKE 'paused:%%') AS is_gated,
       EXISTS (SELECT 1 FROM accounts WHERE is_ordered) AS has_ordered_accounts,
       EXISTS (SELECT 1 FROM work_queue FORCE INDEX (next_in_order)
                WHERE order_place >= 'key:' AND order_place < 'key;') AS has_order_keys;

-- name: without_proxied_jobs
-- A condition: leave out jobs that would need a proxy while none can be used; a profile has its own,
-- and a task without a browser needs none.
AND (profile IS NOT NULL OR task IN %(without_browser)s)

-- name: not_of_waiting_accounts
-- A condition: leave out jobs of accounts whose proxy cools down; a profile has its own.
AND (account IS NULL OR profile IS NOT NULL OR account NOT IN %(waiting_accounts)s
     OR task IN %(without_browser)s)

-- name: not_where_all_proxies_cool
-- A condition: leave out jobs that go to a site which no proxy is left for; a profile has its own.
AND (profile IS NOT NULL OR COALESCE(site, '') NOT IN %(cooling_sites)s
     OR task IN %(without_browser)s)

-- name: not_on_cooling_routes
-- A condition: leave out jobs whose profile's or account's proxy is left alone for their site.
AND (COALESCE(profile, account) IS NULL
     OR CONCAT(COALESCE(CONCAT('profile:', profile), CONCAT('account:', account)), '@',
               COALESCE(site, '')) NOT IN %(cooling_routes)s)

-- name: not_in_closed_orders
-- A condition: leave out jobs of orders that the gate has just refused.
AND (order_place IS NULL OR order_place NOT IN %(closed_orders)s)
