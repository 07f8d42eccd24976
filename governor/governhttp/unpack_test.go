package governhttp_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// A packed body is unpacked, unless it grows to more than a hundred times its size.
func TestUnpackRatio(t *testing.T) {
	t.Parallel()
	words := strings.Repeat(`{"id":"0123456789","name":"a word"},`, 10)
	for name, c := range map[string]struct {
		text string
		good bool
	}{
		"short":      {strings.Repeat("a", 900<<10), true},
		"bomb":       {strings.Repeat("a", 8<<20), false},
		"plain text": {words, true},
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("%s: accepts %q", name, r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes()) // the client may go away
		}))
		sender := governhttp.NewSender(governor.New("test", func(c *governor.Config) { c.Attempts = 1 }),
			governhttp.SenderOptions{})
		client, err := governhttp.New(governhttp.Options{BaseURL: server.URL, Sender: sender})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(t.Context(), governhttp.Request{Path: "list"})
		var e *governhttp.Error
		switch {
		case c.good && (err != nil || string(resp.Body) != c.text):
			t.Errorf("%s: %v", name, err)
		case !c.good && (!errors.As(err, &e) || e.Kind != governhttp.TooLarge):
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
	}
}
