package console

import (
	"net/http"
	"testing"
)

// The addresses of the second edition lead to the pages of today, with their query.
func TestOldAddressesRedirect(t *testing.T) {
	t.Parallel()
	h := mounted(&guard{})
	for from, to := range map[string]string{
		"/connections/con_a":                        "/sources/con_a",
		"/connections/con_a/gaps?status=terminal":   "/sources/con_a/missing?status=terminal",
		"/connections/con_a/gaps/gap_1":             "/sources/con_a/missing/gap_1",
		"/connections/con_a/changes?stream=s":       "/changed?source=con_a&stream=s",
		"/schedules?page=2":                         "/settings/pace?page=2",
		"/devices/dev_1":                            "/settings/devices/dev_1",
		"/add/kelp":                                 "/sources/add/kelp",
		"/records":                                  "/",
		"/records?q=pear":                           "/search?q=pear",
		"/records/timeline":                         "/timeline",
		"/records/timeline?day=2026-07-12&source=c": "/day/2026-07-12?source=c",
		"/records/figures?stream=c/s":               "/health?stream=c%2Fs",
		"/records/files?kind=pictures":              "/photos?kind=pictures",
		"/records/c/s/~a":                           "/thing/c/s/~a",
		"/grants/grt_1":                             "/sharing/grt_1",
		"/audit?days=7":                             "/sharing/reads?days=7",
		"/consent/req_1":                            "/sharing/allow/req_1",
	} {
		w := get(h, from)
		if w.Code != http.StatusMovedPermanently || w.Header().Get("Location") != to {
			t.Errorf("%s leads with %d to %q, want %s", from, w.Code, w.Header().Get("Location"), to)
		}
	}
}
