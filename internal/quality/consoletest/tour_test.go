package consoletest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// tour: every page of a house with connections in six states reads at both widths and in
// both themes, breaks no rule of its own policy and has no serious fault of
// accessibility. Three windows share them.
func tour(t *testing.T, h *house) {
	b := open(t, h.ready.URL)
	b.visit("/login")
	b.shoot("login")
	b = h.signIn(t)
	b.shoot("today")
	b.visit("/sources")
	b.until(`document.querySelectorAll("[data-connection]").length >= 6`)
	b.until(`[...document.querySelectorAll("[data-connection]")].some(e => e.innerText.includes("GitHub") && ` +
		`e.innerText.includes("Needs you"))`)
	b.until(`[...document.querySelectorAll("[data-connection]")].some(e => e.innerText.includes("Ada's notebook") && ` +
		`e.innerText.includes("Healthy"))`)
	b.shoot("dashboard")
	b.publish("dashboard")
	pages := map[string]string{
		"connection-healthy": "/sources/cin_example_1", "connection-throttled": "/sources/cin_example_2",
		"connection-reconnect": "/sources/cin_github_1",
		"connection-terminal":  "/sources/cin_harbour_1", "connection-history": "/sources/cin_ferry_1",
		"connection-stale": "/sources/cin_paperbox_1", "connection-device": "/sources/cin_shelf_1",
		"records": "/complete", "search": "/search?q=the", "search-none": "/search?q=quokka",
		"streams": "/settings/details/streams", "add": "/sources/add",
		"add-about":  "/sources/add/spotify/about",
		"add-github": "/sources/add/github", "schedules": "/settings/pace", "grants-empty": "/sharing",
		"grants-new": "/sharing/new", "devices": "/settings/devices", "settings": "/settings", "storage": "/settings/storage",
		"sign-in": "/settings/sign-in", "runs": "/runs", "audit": "/sharing/reads", "deliveries": "/sharing/deliveries",
		"delete-connection": "/settings/deletions/new?scope=connection&connection=cin_example_1",
		"delete-range":      "/settings/deletions/new?scope=range&connection=cin_example_1&since=2020-01-01",
		"missing-none":      "/sources/cin_example_1/missing", "changes": "/changed?source=cin_example_1",
	}
	for window := range 3 {
		t.Run(fmt.Sprint("window ", window), func(t *testing.T) {
			t.Parallel()
			b := h.signIn(t)
			for i, name := range slices.Sorted(maps.Keys(pages)) {
				if i%3 == window {
					b.visit(pages[name])
					b.shoot(name)
				}
			}
			b.quiet()
		})
	}
	b.visit("/sources/cin_example_2")
	b.until(`document.querySelector("#inspect-missing") !== null`) // its source asked for a pause
	b.visit("/sources/cin_example_2/missing")
	b.shoot("missing")
	b.click("[data-gap] a")
	b.wait("#why")
	b.shoot("missing-item")
	b.visit("/sources/cin_example_2/bookmarks")
	b.click("[data-bookmark=events] a")
	b.wait("[data-commit]")
	b.shoot("bookmarks")
	b.click("[data-commit] td:last-child a")
	b.until(`location.pathname.endsWith("/rewind")`)
	b.shoot("rewind")
	// One record is deleted where it is shown, and restored.
	b.visit("/search?connection=cin_example_1&stream=events")
	b.click("[data-key] a")
	b.wait("#record")
	b.click("#record a[href*='scope=record']")
	b.until(`location.pathname.endsWith("/deletions/new")`)
	b.shoot("delete-record")
	b.click("form[action='/settings/deletions'] button")
	b.wait("[data-deletion]")
	b.until(`document.body.innerText.includes("no longer show it")`)
	b.shoot("deleted")
	b.visit("/settings/deletions")
	b.wait("[data-deletion]")
	b.shoot("deletions")
	b.click("[data-deletion] a")
	b.click("form[action$='/undo'] button")
	b.until(`document.body.innerText.includes("Restored 1 record")`)
	b.visit("/sources/cin_github_1")
	b.click("#details > summary")
	b.click("#runs [data-run] a")
	b.until(`location.pathname.startsWith("/runs/")`)
	b.shoot("run-failed")
	b.quiet()
}
