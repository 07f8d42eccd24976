package browser

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// TestGuard: which documents may be loaded.
func TestGuard(t *testing.T) {
	names := map[string]string{
		"shelf.example": "93.184.216.34", "signin.example": "93.184.216.35", "idp.example": "2606:2800::1",
		"far.example":     "93.184.216.37",
		"farther.example": "93.184.216.38", "inside.example": "10.1.2.3", "mixed.example": "93.184.216.39 192.168.1.1",
		"mapped.example": "::ffff:127.0.0.1",
	}
	fresh := func() *documentGuard {
		g := newDocumentGuard([]string{"Shelf.example", "inside.example", "mixed.example", "mapped.example",
			"nowhere.example", "127.0.0.1", "slow.example"}, []string{"127.0.0.1:8080", "127.0.0.1:80"})
		g.resolve = func(ctx context.Context, host string) (out []netip.Addr, err error) {
			if host == "slow.example" {
				return nil, context.DeadlineExceeded
			}
			for f := range strings.FieldsSeq(names[host]) {
				out = append(out, netip.MustParseAddr(f))
			}
			if len(out) == 0 {
				return nil, errors.New("no such host")
			}
			return out, nil
		}
		return g
	}
	for _, c := range []struct {
		address, from string
		ok            bool
	}{
		{"https://shelf.example/a", "", true},
		{"https://SHELF.example/a", "shelf.example", true},
		{"https://signin.example/", "", false},
		{"https://signin.example/", "shelf.example", true},
		{"https://signin.example/", "elsewhere.example", false},
		{"http://inside.example/", "shelf.example", false},
		{"http://mixed.example/", "shelf.example", false},
		{"http://mapped.example/", "shelf.example", false},
		{"http://nowhere.example/", "shelf.example", true}, // the browser reports that the host does not exist
		{"http://169.254.169.254/latest", "shelf.example", false},
		{"http://[fe80::1]/", "shelf.example", false},
		{"http://[fd00::1]/", "shelf.example", false},
		{"http://100.64.0.1/", "shelf.example", false},
		{"http://0.0.0.0/", "shelf.example", false},
		{"http://127.0.0.1:8080/", "", true},
		{"http://127.0.0.1/", "", true},
		{"http://127.0.0.1:9090/", "shelf.example", false},
		{"https://127.0.0.1/", "shelf.example", false},
		{"file:///etc/passwd", "shelf.example", false},
		{"chrome://settings", "shelf.example", false},
		{"about:blank", "", true},
		{"blob:https://shelf.example/1", "shelf.example", true},
		{"http://%zz/", "shelf.example", false},
	} {
		if _, ok := fresh().allows(t.Context(), c.address, c.from); ok != c.ok {
			t.Errorf("%s from %q: %v", c.address, c.from, ok)
		}
	}
	g := fresh()
	for _, step := range [][2]string{{"shelf.example", "signin.example"}, {"signin.example", "idp.example"},
		{"idp.example", "far.example"}} {
		if _, ok := g.allows(t.Context(), "https://"+step[1]+"/", step[0]); !ok {
			t.Errorf("%v is refused", step)
		}
	}
	if _, ok := g.allows(t.Context(), "https://farther.example/", "far.example"); ok {
		t.Error("a chain of sites has no end")
	}
	if _, ok := g.allows(t.Context(), "https://shelf.example/", "far.example"); !ok {
		t.Error("the way back is closed")
	}
}
