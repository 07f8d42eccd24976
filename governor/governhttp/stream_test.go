package governhttp

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// TestStreamIsHandedOverAsItArrives reads the first half of a body while the second is
// still held back, past both bounds of a whole one.
func TestStreamIsHandedOverAsItArrives(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*Client, string) (io.ReadCloser, error){
		"Do": func(c *Client, _ string) (io.ReadCloser, error) {
			resp, err := c.Do(t.Context(), Request{Path: "file", Stream: true})
			if err != nil {
				return nil, err
			}
			if resp.Body != nil {
				t.Error("the body is read as well")
			}
			return resp.Stream, nil
		},
		"RoundTrip": func(c *Client, base string) (io.ReadCloser, error) {
			resp, err := (&http.Client{Transport: c}).Get(base + "/file")
			if err != nil {
				return nil, err
			}
			return resp.Body, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, asked := make(chan struct{}), 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked++; asked == 1 {
					w.WriteHeader(http.StatusBadGateway)
					return
				}
				_, _ = io.WriteString(w, "first half")
				w.(http.Flusher).Flush()
				<-read
				_, _ = io.WriteString(w, ", second half")
			}))
			defer s.Close()
			c, err := New(
				Options{BaseURL: s.URL, MaxBody: 4, Stream: true, Sender: NewSender(governor.New("test", func(c *governor.Config) {
					c.Discovery, c.Backoff = 0, time.Millisecond
				}), SenderOptions{})},
			)
			if err != nil {
				t.Fatal(err)
			}
			body, err := open(c, s.URL)
			if err != nil {
				t.Fatal(err)
			}
			half := make([]byte, len("first half"))
			if _, err := io.ReadFull(body, half); err != nil || string(half) != "first half" {
				t.Fatalf("%q, %v", half, err)
			}
			close(read)
			rest, err := io.ReadAll(body)
			if err != nil || string(rest) != ", second half" || body.Close() != nil || asked != 2 {
				t.Errorf("%q after %d requests, %v", rest, asked, err)
			}
		})
	}
}

// TestTimeoutEndsBeforeTheStream bounds the way to the headers and not the body.
func TestTimeoutEndsBeforeTheStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/never" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			out, in := io.Pipe()
			go func() {
				time.Sleep(time.Hour)
				_, err := io.WriteString(in, "late")
				in.CloseWithError(errors.Join(err, r.Context().Err()))
			}()
			resp := reply(200, "", "")
			resp.Body = out
			return resp, nil
		})
		c, err := New(Options{BaseURL: "https://api.lumen.example", Transport: slow, Sender: plain(), Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(t.Context(), Request{Path: "late", Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(resp.Stream); err != nil || string(text) != "late" {
			t.Errorf("%q, %v", text, err)
		}
		if err := resp.Stream.Close(); err != nil {
			t.Error(err)
		}
		began := time.Now()
		if _, err := c.Do(
			t.Context(),
			Request{Path: "never", Stream: true},
		); kindOf(t, err) != Timeout ||
			time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestRefusalIsNoStream reads the body of what is not 2xx, so that it can be judged,
// and closes a stream that is judged to be no answer.
func TestRefusalIsNoStream(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	body := &once{Reader: strings.NewReader("<form>")}
	c, err := New(Options{
		BaseURL: "https://api.lumen.example", Sender: plain(),
		Classify: func(r *Response) error {
			if r.Stream != nil || string(r.Body) == "not yours" {
				return refused
			}
			return nil
		},
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/page" {
				resp := reply(200, "", "")
				resp.Body = body
				return resp, nil
			}
			return reply(403, "", "not yours"), nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := c.Do(
		t.Context(),
		Request{Path: "refused", Stream: true},
	); !errors.Is(err, refused) ||
		resp.Stream != nil {
		t.Errorf("%+v, %v", resp, err)
	}
	if _, err := c.Do(t.Context(), Request{Path: "page", Stream: true}); !errors.Is(err, refused) || !body.closed {
		t.Errorf("closed %v, %v", body.closed, err)
	}
}
