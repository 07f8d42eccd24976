package connectorkit

import (
	"bytes"
	"io"
	"strconv"
	"sync"
)

// redactor removes secrets from what is written through it. The log handler
// writes each line in one call, so a secret is never split.
type redactor struct {
	w       io.Writer
	mu      sync.Mutex
	secrets [][]byte
}

// hide keeps a value out of everything that is written from now on, in its
// plain spelling and in the quoted one that log lines use.
func (r *redactor) hide(secret string) {
	if secret == "" {
		return
	}
	quoted := strconv.Quote(secret)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, []byte(secret), []byte(quoted[1:len(quoted)-1]))
}

func (r *redactor) Write(b []byte) (int, error) {
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
