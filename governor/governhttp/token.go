package governhttp

import (
	"context"
	"net/http"
	"strings"
)

// Token gives the access token that requests show as Bearer. Without a refused one it gives the
// token of now; with the one that the provider answered 401 to it gives a fresh one, or the same
// when there is none. It is called from several goroutines at once.
type Token func(ctx context.Context, refused string) (string, error)

const bearer = "Bearer "

// show puts the token of now into a request that has no authorization of its own.
func (t Token) show(ctx context.Context, req *http.Request) error {
	if t == nil || req.Header.Get("Authorization") != "" {
		return nil
	}
	token, err := t(ctx, "")
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", bearer+token)
	return nil
}

// again puts a fresh token into a request that was answered 401; false when there is none.
func (t Token) again(ctx context.Context, req *http.Request, resp *Response) bool {
	used, ours := strings.CutPrefix(req.Header.Get("Authorization"), bearer)
	if t == nil || resp == nil || resp.Status != http.StatusUnauthorized || !ours {
		return false
	}
	fresh, err := t(ctx, used)
	if err != nil || fresh == used || fresh == "" {
		return false // the refusal itself is what the caller hears
	}
	req.Header.Set("Authorization", bearer+fresh)
	return true
}
