package governhttp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
)

// A request with a 401 response is sent once more with a fresh token, as a second request through the sender.
// Without a fresh token the caller gets the 401.
func TestRefusedTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for _, c := range []struct {
		name  string
		fresh string
		own   string // authorization of the request itself
		want  []string
		ok    bool
	}{
		{"a fresh one", "new", "", []string{"Bearer old", "Bearer new"}, true},
		{"a fresh one that is refused too", "newer", "", []string{"Bearer old", "Bearer newer"}, false},
		{"none", "old", "", []string{"Bearer old"}, false},
		{"the request has its own", "new", "Basic x", []string{"Basic x"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var shown, asked []string
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				shown = append(shown, r.Header.Get("Authorization"))
				if r.Header.Get("Authorization") != "Bearer new" {
					w.WriteHeader(http.StatusUnauthorized)
				}
			}, Options{
				Token: func(_ context.Context, used string) (string, error) {
					if asked = append(asked, used); used != "" {
						return c.fresh, nil
					}
					return "old", nil
				},
				Classify: func(r *Response) error {
					if r.Status == http.StatusUnauthorized {
						return refused
					}
					return nil
				},
			})
			header := http.Header{}
			if c.own != "" {
				header.Set("Authorization", c.own)
			}
			_, err := client.Do(t.Context(), Request{Path: "x", Header: header})
			if !slices.Equal(shown, c.want) || (err == nil) != c.ok || !c.ok && !errors.Is(err, refused) {
				t.Errorf("shown %v, then %v", shown, err)
			}
			if c.own == "" && !slices.Equal(asked, []string{"", "old"}) {
				t.Errorf("asked for %q", asked)
			}
		})
	}
}

// Renew replaces a refused request once. NoRedirect makes a redirect an error, to the same host too.
func TestRenewedRequest(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	var seen []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path)
		switch r.URL.Path {
		case "/old", "/older":
			w.WriteHeader(http.StatusForbidden)
		case "/moved":
			http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
		}
	}, Options{Classify: func(r *Response) error {
		if r.Status == http.StatusForbidden {
			return refused
		}
		return nil
	}})
	replaceWith := func(path string) func(context.Context, *Response, error) (*Request, error) {
		return func(_ context.Context, resp *Response, err error) (*Request, error) {
			if resp.Status != http.StatusForbidden || path == "" {
				return nil, err
			}
			return &Request{Path: path}, nil
		}
	}
	for _, c := range []struct {
		request Request
		want    []string
		ok      bool
	}{
		{Request{Path: "old", Renew: replaceWith("new")}, []string{"/old", "/new"}, true},
		{Request{Path: "old", Renew: replaceWith("older")}, []string{"/old", "/older"}, false},
		{Request{Path: "old", Renew: replaceWith("")}, []string{"/old"}, false},
		{Request{Path: "new", Renew: replaceWith("old")}, []string{"/new"}, true},
		{Request{Path: "moved"}, []string{"/moved", "/new"}, true},
		{Request{Path: "moved", NoRedirect: true}, []string{"/moved"}, false},
	} {
		seen = nil
		if _, err := client.Do(t.Context(), c.request); (err == nil) != c.ok || !slices.Equal(seen, c.want) {
			t.Errorf("%s: requests %v, then %v", c.request.Path, seen, err)
		}
	}
}
