package connectorkit

import (
	"bytes"
	"io"
	"strconv"
	"sync"
)

// logRedactor removes secrets from its output. The log handler writes each line in one call, so a secret is never
// split.
type logRedactor struct {
	w       io.Writer
	mu      sync.Mutex
	secrets [][]byte
}

// hide removes a value from all later output, in its plain and its quoted form.
func (r *logRedactor) hide(secret string) {
	if secret == "" {
		return
	}
	quoted := strconv.Quote(secret)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, []byte(secret), []byte(quoted[1:len(quoted)-1]))
}

func (r *logRedactor) Write(b []byte) (int, error) {
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
