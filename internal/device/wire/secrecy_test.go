package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// failing is a transport that sends nothing and includes the whole request in its error.
type failing struct{ err error }

func (f failing) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s with %v: %w", r.URL, r.Header, f.err)
}

func TestTransportFailuresAreRetryableAndNameNoRequest(t *testing.T) {
	for name, step := range map[string]struct {
		err  error
		code string
	}{
		"refused":    {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, CodeNetwork},
		"no name":    {&net.DNSError{Err: "no such host", Name: "box.example"}, CodeNetwork},
		"timeout":    {&net.OpError{Op: "read", Err: context.DeadlineExceeded}, CodeTimeout},
		"closed":     {io.ErrUnexpectedEOF, CodeNetwork},
		"indiscreet": {errors.New("token " + token), CodeNetwork},
	} {
		c := &Client{BaseURL: "https://box.example", DeviceID: "dev-1", Token: token,
			HTTP: &http.Client{Transport: failing{step.err}}}
		_, err := c.State(t.Context(), "src-a")
		var got *Error
		if !errors.As(err, &got) || got.Code != step.code || got.Action() != Wait || got.Status != 0 {
			t.Errorf("%s: %+v", name, err)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, token) ||
				strings.Contains(text, "box.example") {
				t.Errorf("%s: the error says %s", name, text)
			}
		}
	}
}

func TestAnEndedContextShows(t *testing.T) {
	release := make(chan struct{})
	arrived := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		arrived <- struct{}{}
		<-release
	}))
	defer server.Close()
	defer close(release)
	c := &Client{BaseURL: server.URL, DeviceID: "dev-1", Token: token}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err := c.Heartbeat(ctx, Heartbeat{})
	var got *Error
	if !errors.As(err, &got) || got.Code != CodeCanceled || got.Action() != Wait || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	ctx, cancel = context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	_, err = c.Heartbeat(ctx, Heartbeat{})
	if !errors.As(err, &got) || got.Code != CodeTimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
}

// A token that no header can carry fails before anything is sent, and stays unsaid.
func TestATokenThatIsNoHeaderIsNotShown(t *testing.T) {
	c := &Client{BaseURL: "http://127.0.0.1:1", DeviceID: "dev-1", Token: token + "\n"}
	_, err := c.Heartbeat(t.Context(), Heartbeat{})
	if err == nil || strings.Contains(err.Error(), token) {
		t.Errorf("error %v", err)
	}
}

func TestNoPrintOfAClientShowsItsToken(t *testing.T) {
	base := (&url.URL{Scheme: "https", Host: "box.example", User: url.UserPassword("ines", token)}).String()
	c := Client{BaseURL: base, DeviceID: "dev-1", Token: token}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+"\n", c)
		fmt.Fprintf(&out, verb+"\n", &c)
		fmt.Fprintf(&out, verb+"\n", struct{ C *Client }{&c})
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "client", c, "pointer", &c)
	if strings.Contains(out.String(), token) {
		t.Errorf("printed %s", &out)
	}
	c.BaseURL = "https://box.example"
	encoded, err := json.Marshal(c)
	if err != nil || bytes.Contains(encoded, []byte(token)) {
		t.Errorf("encoded %s, %v", encoded, err)
	}
}
