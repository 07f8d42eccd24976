package recorded

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Recording is what the provider answered in two runs.
type Recording struct {
	RecordedAt time.Time `json:"recorded_at"`
	// Environment are the connector's variables; a secret one has a placeholder.
	Environment map[string]string `json:"environment"`
	Exchanges   []Exchange        `json:"exchanges"`
}

// Exchange is one request and its answer.
type Exchange struct {
	Request Request `json:"request"`
	Answer  Answer  `json:"answer"`
}

// Request identifies a request.
type Request struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Body   string `json:"body,omitzero"`
}

func (r Request) String() string {
	text := r.Method + " " + r.URL
	if r.Body != "" {
		text += " with " + r.Body
	}
	return text
}

// Answer is one answer. Its body is JSON, else text, else bytes.
type Answer struct {
	Status int            `json:"status"`
	Header http.Header    `json:"header,omitempty"`
	JSON   jsontext.Value `json:"json,omitzero"`
	Text   string         `json:"text,omitzero"`
	Base64 string         `json:"base64,omitzero"`
}

// setBody takes the body in the plainest form that it has.
func (a *Answer) setBody(body []byte) {
	switch {
	case len(bytes.TrimSpace(body)) > 0 && jsontext.Value(body).IsValid():
		a.JSON = body
	case utf8.Valid(body):
		a.Text = string(body)
	default:
		a.Base64 = base64.StdEncoding.EncodeToString(body)
	}
}

func (a Answer) decodeBody() ([]byte, error) {
	switch {
	case a.JSON != nil:
		return a.JSON, nil
	case a.Base64 != "":
		return base64.StdEncoding.DecodeString(a.Base64)
	}
	return []byte(a.Text), nil
}

// ReadRecording reads a recording.
func ReadRecording(file string) (*Recording, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no recording %s: set the connector's variables and run the test with -record", file)
	}
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	var r Recording
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read recording %s: %w", file, err)
	}
	return &r, nil
}

// encodeRecording spells the recording, and refuses one that still holds a secret.
func (r *Recording) encodeRecording(hide *redaction) ([]byte, error) {
	data, err := json.Marshal(r, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encode recording: %w", err)
	}
	if name := hide.findSecret(data); name != "" {
		return nil, fmt.Errorf("the recording would hold the value of %s: it is not written", name)
	}
	return append(data, '\n'), nil
}

func writeFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}
