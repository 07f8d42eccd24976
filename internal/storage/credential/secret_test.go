package credential_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
)

const hidden = "swordfish-of-the-seven-seas"

// holder has a secret in a field where fmt cannot call its methods.
type holder struct {
	Open   credential.Secret
	inside credential.Secret
	deeper map[string]*credential.Secret
	key    credential.Key
}

// TestSecretIsNeverPrinted tries every way to turn a value into text, at every depth.
func TestSecretIsNeverPrinted(t *testing.T) {
	key, err := credential.ParseKey(strings.Repeat("ab", 32))
	if err != nil {
		t.Fatal(err)
	}
	s := credential.NewSecret(hidden)
	h := holder{Open: s, inside: s, deeper: map[string]*credential.Secret{"x": &s}, key: key}
	var all []string
	for _, value := range []any{s, &s, h, &h, credential.Values{"A": s}, []credential.Secret{s},
		struct{ credential.Secret }{s}, key, &key} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%10s", "%T", "%p", "%w"} {
			all = append(all, fmt.Sprintf(verb, value))
		}
		for _, marshal := range []func(any) ([]byte, error){json.Marshal,
			func(v any) ([]byte, error) { return jsonv2.Marshal(v) }} {
			b, err := marshal(value)
			all = append(all, string(b), fmt.Sprint(err))
		}
		var text, lines bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("x", "value", value, slog.Group("g", "value", value))
		slog.New(slog.NewJSONHandler(&lines, nil)).Info("x", "value", value)
		all = append(all, text.String(), lines.String(), errors.Join(fmt.Errorf("wrapped: %v", value)).Error())
	}
	all = append(all, s.String(), s.LogValue().String(), key.String())
	for _, text := range all {
		for _, form := range []string{hidden, fmt.Sprintf("%x", hidden), fmt.Sprintf("%X", hidden), strings.Repeat("ab", 32),
			strings.Repeat("171 ", 3)} {
			if strings.Contains(text, form) {
				t.Errorf("a secret shows in %q", text)
			}
		}
	}
	if got := fmt.Sprintf("%v %s %+v", s, s,
		struct{ S credential.Secret }{s}); got != "[redacted] [redacted] {S:[redacted]}" {
		t.Errorf("printed as %q", got)
	}
	if s.Reveal() != hidden {
		t.Error("the value is lost")
	}
}

func TestSecretsCompare(t *testing.T) {
	a, b := credential.NewSecret(hidden), credential.NewSecret(hidden)
	var none credential.Secret
	if !a.Equal(b) || a.Equal(credential.NewSecret("other")) || a.Equal(none) || !none.Equal(credential.NewSecret("")) {
		t.Error("equality is not that of the values")
	}
}
