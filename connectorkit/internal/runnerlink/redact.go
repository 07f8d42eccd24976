package runnerlink

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"sync"
)

// LogRedactor removes secrets from its output. The log handler writes each line in one call, so a secret is never
// split.
type LogRedactor struct {
	w       io.Writer
	mu      sync.Mutex
	secrets [][]byte
}

// NewLogRedactor returns a redactor that writes to w.
func NewLogRedactor(w io.Writer) *LogRedactor { return &LogRedactor{w: w} }

// HideSecret removes a value from all later output, in its plain and its quoted form.
func (r *LogRedactor) HideSecret(secret string) {
	if secret == "" {
		return
	}
	quoted := strconv.Quote(secret)
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.secrets, func(s []byte) bool { return string(s) == secret }) {
		return
	}
	r.secrets = append(r.secrets, []byte(secret), []byte(quoted[1:len(quoted)-1]))
}

// Write writes b without the secrets.
func (r *LogRedactor) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clean := b
	for _, s := range r.secrets {
		clean = bytes.ReplaceAll(clean, s, []byte("[redacted]"))
	}
	if _, err := r.w.Write(clean); err != nil {
		return 0, err
	}
	return len(b), nil
}
