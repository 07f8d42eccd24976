package bluesky

import (
	"context"
	"net/http"
	"net/url"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const profileMethod = "app.bsky.actor.getProfile"

// counts is how many records the network's index has of the account; nil is not measured.
type counts struct {
	Posts   *int64 `json:"postsCount"`
	Follows *int64 `json:"followsCount"`
}

// compare holds the number of the index against what a whole walk listed. The index is another service than the
// account's server: it follows after a while, and a server may have none. So a hundredth, and at least three records,
// do not count, and without an answer nothing is compared.
func (a *account) compare(ctx context.Context, stream string, listed int64) {
	if stream != "posts" && stream != "follows" {
		return
	}
	if a.index == nil {
		a.index = &counts{}
		if a.get(ctx, profileMethod, url.Values{"actor": {a.did}}, a.index) != nil {
			a.index = &counts{}
		}
	}
	for _, one := range []struct {
		stream, member string
		number         *int64
	}{{"posts", "postsCount", a.index.Posts}, {"follows", "followsCount", a.index.Follows}} {
		if one.stream == stream && one.number != nil {
			a.setup.Counted(stream, "GET xrpc/"+profileMethod, one.member, *one.number-max(3, *one.number/100), listed)
		}
	}
}

// classifyCounts is classify for the index: only a refusal because of the pace or the session is an error of the
// account's server, and the run does without any other answer.
func classifyCounts(r *governhttp.Response) error {
	switch r.Status {
	case http.StatusOK, http.StatusUnauthorized, http.StatusTooManyRequests:
		return classify(r)
	}
	return connectorkit.Fail(connectorkit.NotFound, errForm)
}
