package governhttp

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestHostsShareCredentialAndPace asks three hosts of one provider, and refuses a
// fourth before it gets the credential.
func TestHostsShareCredentialAndPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(steady(time.Second))
		var sent []string
		c, err := New(Options{
			BaseURL: "https://api.lumen.example/v1", Hosts: []string{"files.lumen.example", "media.lumen.example:8443"},
			Header: http.Header{"Authorization": {"Bearer t"}}, Sender: r.Sender,
			Transport: replies(func(_ int, req *http.Request) *http.Response {
				if req.Header.Get("Authorization") != "Bearer t" {
					t.Errorf("%s without the credential", req.URL)
				}
				sent = append(sent, req.URL.String())
				switch req.URL.Path {
				case "/v1/moved":
					return reply(302, "Location: https://files.lumen.example/found", "")
				case "/v1/away":
					return reply(302, "Location: https://other.example/found", "")
				}
				return reply(200, "", "")
			}).transport(),
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for _, req := range []Request{
			{Path: "items"},
			{URL: "https://files.lumen.example/a?x=1", Query: url.Values{"y": {"2"}}},
			{URL: "https://media.lumen.example:8443/b"},
			{Path: "moved"},
		} {
			if _, err := c.Do(t.Context(), req); err != nil {
				t.Errorf("%+v: %v", req, err)
			}
		}
		want := []string{
			"https://api.lumen.example/v1/items", "https://files.lumen.example/a?x=1&y=2", "https://media.lumen.example:8443/b",
			"https://api.lumen.example/v1/moved", "https://files.lumen.example/found",
		}
		if !slices.Equal(sent, want) {
			t.Errorf("sent %s", strings.Join(sent, "\n"))
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("five requests that wait a second each took %s", took)
		}
		sent = nil
		for _, address := range []string{"https://other.example/", "http://files.lumen.example/",
			"https://files.lumen.example:444/", "::"} {
			if _, err := c.Do(t.Context(), Request{URL: address}); !errors.Is(err, errOtherHost) {
				t.Errorf("%s: %v", address, err)
			}
		}
		if _, err := c.Get(t.Context(), "away", nil); kindOf(t, err) != Redirected || len(sent) != 1 {
			t.Errorf("%v after %v", err, sent)
		}
	})
}

// TestUnreachableHostLeavesTheOthers remembers by host what cannot be reached.
func TestUnreachableHostLeavesTheOthers(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var r unreachableHosts
	r.remember(&Error{Kind: Unreachable, Host: "files.lumen.example", err: errOtherHost}, now)
	if r.lookup("files.lumen.example", now) == nil || r.lookup("api.lumen.example", now) != nil ||
		r.lookup("files.lumen.example", now.Add(unreachableFor)) != nil {
		t.Errorf("remembered %+v", r.hosts)
	}
}
