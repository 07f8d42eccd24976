package governhttp

import (
	"context"
	"net/http"
	"strings"
)

// Token returns the access token for the Bearer Authorization header. If refused is empty, it returns the current
// token. Otherwise the provider answered 401 to refused, and Token returns a fresh one, or the same if there is
// none. It is called from several goroutines at once.
type Token func(ctx context.Context, refused string) (string, error)

const bearerPrefix = "Bearer "

// authorize sets the current token on a request without an Authorization header.
func (t Token) authorize(ctx context.Context, req *http.Request) error {
	if t == nil || req.Header.Get("Authorization") != "" {
		return nil
	}
	token, err := t(ctx, "")
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", bearerPrefix+token)
	return nil
}

// refresh sets a fresh token on a request that got a 401 response. It returns false if there is none.
func (t Token) refresh(ctx context.Context, req *http.Request, resp *Response) bool {
	used, ours := strings.CutPrefix(req.Header.Get("Authorization"), bearerPrefix)
	if t == nil || resp == nil || resp.Status != http.StatusUnauthorized || !ours {
		return false
	}
	fresh, err := t(ctx, used)
	if err != nil || fresh == used || fresh == "" {
		return false // the caller gets the 401 response
	}
	req.Header.Set("Authorization", bearerPrefix+fresh)
	return true
}
