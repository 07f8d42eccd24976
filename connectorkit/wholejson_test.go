package connectorkit_test

import (
	"errors"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// TestWholeJSON shows which bodies are good, which are worth a repetition and which are not.
func TestWholeJSON(t *testing.T) {
	t.Parallel()
	whole := `{"a":[1,{"b":"c"}]}`
	cases := map[string]connectorkit.Class{
		whole:       "",
		"[]":        "",
		" \n{}\n":   "",
		"":          connectorkit.Malformed,
		" \r\n":     connectorkit.Malformed,
		"<html>":    connectorkit.Malformed,
		"null":      connectorkit.Malformed,
		"ok":        connectorkit.Malformed,
		"{}{}":      connectorkit.Unavailable,
		`{"a":1} x`: connectorkit.Unavailable,
	}
	for end := 1; end < len(whole); end++ {
		cases[whole[:end]] = connectorkit.Unavailable
	}
	for body, want := range cases {
		var e *connectorkit.Error
		var got connectorkit.Class
		if errors.As(connectorkit.WholeJSON(&governhttp.Response{Status: 200, Body: []byte(body)}), &e) {
			got = e.Class
		}
		if got != want {
			t.Errorf("%q is %q, want %q", body, got, want)
		}
	}
}
