package secretmask_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runnerlink"
	"github.com/pdpp-go/pdpp/connectorkit/internal/secretmask"
	"github.com/pdpp-go/pdpp/protocol"
)

// A secret that a provider returns does not reach a record, a gap or an error, however it is spelled.
func TestKnownSecretsInMessages(t *testing.T) {
	const secret = `to/ken "12345678" é`
	var written bytes.Buffer
	known := secretmask.NewKnownSecrets("source key")
	o := runnerlink.NewLineOutput(&written, known.CleanLine, func(err error) { t.Error(err) })
	for _, hidden := range []string{secret, secret, "liverpool", "1234567890123456"} {
		known.Add(hidden)
	}
	text := "failed with " + secret
	for _, m := range []protocol.Message{
		&protocol.Record{Stream: "s", Key: "k", EmittedAt: "2026-03-01T00:00:00Z", Data: jsontext.Value(
			`{"id":"k","n":1234567890123456,"plain":"a to/ken \"12345678\" é b","slash":"to\/ken \"12345678\" é",` +
				`"short":"liverpool",` +
				`"next":"https://x.example/?key=to%2Fken+%2212345678%22+%C3%A9&page=2","digits":"1234567890123456"}`)},
		&protocol.SkipResult{Stream: "s", Reason: "r", Message: &text},
		&protocol.Done{Status: protocol.DoneFailed, Error: &protocol.DoneError{Code: "c", Message: text}},
	} {
		if err := o.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.FinishOutput(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"ken", `"1234567890123456"`} {
		if strings.Contains(written.String(), part) {
			t.Errorf("%s is left: %s", part, written.String())
		}
	}
	if n := strings.Count(written.String(), "[redacted:credential:"); n != 6 {
		t.Errorf("%d replacements: %s", n, written.String())
	}
	for line := range strings.Lines(written.String()) {
		if !jsontext.Value(line).IsValid() || !strings.Contains(written.String(), `"n":1234567890123456,`) ||
			!strings.Contains(written.String(), `"short":"liverpool"`) {
			t.Errorf("damaged: %s", line)
		}
	}
}
