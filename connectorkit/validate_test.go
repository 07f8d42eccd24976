package connectorkit

import (
	"strings"
	"testing"
)

// TestValidationIsAuthoringPolicy holds the check to synthetic connectors.
func TestValidationIsAuthoringPolicy(t *testing.T) {
	t.Parallel()
	wired := collecting(t)
	unwired := wired
	unwired.Validate = nil
	streamless := withManifest(
		t,
		`{"protocol_version":"0.1.0","connector_id":"empty","version":"1","display_name":"Empty"}`,
		nil,
	)
	bare := streamless
	bare.Validate = nil
	const why = "records come from a foreign library; wire it with its next version"

	for _, c := range []struct {
		name, spec string
		connector  Connector
		allow      map[string]string
		want       []string // what the only error must contain; none means that the check passes
	}{
		{"wired", "RT-10.1", wired, nil, nil},
		{"unwired", "RT-10.2", unwired, nil, []string{"archive", "New", "justified entry"}},
		{"allowlisted", "RT-10.5", unwired, map[string]string{"archive": why}, nil},
		{"allowlisted and wired", "RT-10.3", wired, map[string]string{"archive": why}, []string{"archive", "remove"}},
		{"no streams", "RT-10.4", bare, nil, nil},
		{"no streams, wired", "RT-10.4", streamless, nil, nil},
		{"no streams, allowlisted", "RT-10.4", bare, map[string]string{"empty": why}, []string{"empty", "remove"}},
		{"no justification", "RT-10.5", unwired, map[string]string{"archive": " \n"}, []string{"archive", "justification"}},
		{"entry for nobody", "RT-10.5", wired, map[string]string{"gone": why}, []string{"gone", "remove"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Attr("spec", c.spec)
			errs := CheckValidation([]Connector{c.connector}, c.allow)
			if len(errs) != min(len(c.want), 1) {
				t.Fatalf("errors %v, want %d", errs, min(len(c.want), 1))
			}
			for _, part := range c.want {
				if !strings.Contains(errs[0].Error(), part) {
					t.Errorf("%q does not mention %q", errs[0], part)
				}
			}
		})
	}
}

// TestNewRefusesABrokenManifest names what is wrong.
func TestNewRefusesABrokenManifest(t *testing.T) {
	t.Parallel()
	if _, err := New(
		[]byte(`{"connector_id":"x"}`),
		nil,
	); err == nil ||
		!strings.Contains(err.Error(), "protocol_version") {
		t.Errorf("error %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustNew accepted it")
		}
	}()
	MustNew([]byte(`{}`), nil)
}
