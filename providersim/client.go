package providersim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Control drives a simulator from another process through its control port.
type Control struct {
	// URL is the control port's base, e.g. "http://127.0.0.1:40123".
	URL string
	// Client makes the requests; nil means http.DefaultClient.
	Client *http.Client
}

// Truth returns everything that exists now.
func (c Control) Truth(ctx context.Context) (Truth, error) {
	return callControl[Truth](ctx, c, http.MethodGet, "/truth", nil)
}

// Stats returns the counters.
func (c Control) Stats(ctx context.Context) (Stats, error) {
	return callControl[Stats](ctx, c, http.MethodGet, "/stats", nil)
}

// ResetStats puts the counters to zero.
func (c Control) ResetStats(ctx context.Context) error {
	_, err := callControl[emptyAnswer](ctx, c, http.MethodDelete, "/stats", nil)
	return err
}

// Requests returns the latest requests, oldest first.
func (c Control) Requests(ctx context.Context) ([]Request, error) {
	return callControl[[]Request](ctx, c, http.MethodGet, "/requests", nil)
}

// Faults lists the installed faults.
func (c Control) Faults(ctx context.Context) ([]Fault, error) {
	return callControl[[]Fault](ctx, c, http.MethodGet, "/faults", nil)
}

// AddFault installs a fault and returns its id.
func (c Control) AddFault(ctx context.Context, f Fault) (int, error) {
	out, err := callControl[struct{ ID int }](ctx, c, http.MethodPost, "/faults", f)
	return out.ID, err
}

// RemoveFault removes one fault.
func (c Control) RemoveFault(ctx context.Context, id int) error {
	_, err := callControl[emptyAnswer](ctx, c, http.MethodDelete, "/faults/"+strconv.Itoa(id), nil)
	return err
}

// ClearFaults takes all faults away.
func (c Control) ClearFaults(ctx context.Context) error {
	_, err := callControl[emptyAnswer](ctx, c, http.MethodDelete, "/faults", nil)
	return err
}

// Mutate changes the provider's data.
func (c Control) Mutate(ctx context.Context, m Mutation) (Mutated, error) {
	return callControl[Mutated](ctx, c, http.MethodPost, "/mutate", m)
}

// ChangeToken rotates, expires, revokes or narrows the current token.
func (c Control) ChangeToken(ctx context.Context, t TokenChange) (TokenStatus, error) {
	return callControl[TokenStatus](ctx, c, http.MethodPost, "/token", t)
}

type emptyAnswer struct{}

func callControl[T any](ctx context.Context, c Control, method, path string, in any) (T, error) {
	var out T
	var body io.Reader
	if in != nil {
		body = bytes.NewReader(EncodeJSON(in))
	}
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		return out, fmt.Errorf("control %s %s: %w", method, path, err)
	}
	client := c.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return out, fmt.Errorf("control: %w", err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusNoContent:
		return out, nil
	case http.StatusOK:
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
			return out, fmt.Errorf("control %s %s: read answer: %w", method, path, err)
		}
		return out, nil
	}
	var refusal struct{ Error string }
	_ = json.NewDecoder(resp.Body).Decode(&refusal)
	return out, fmt.Errorf("control %s %s: status %d: %s", method, path, resp.StatusCode, refusal.Error)
}
