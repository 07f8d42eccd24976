package bluesky

import (
	"context"
	"net/http"
	"net/url"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const profileMethod = "app.bsky.actor.getProfile"

// indexCounts is how many records the network's index has of the account; nil is not measured.
type indexCounts struct {
	Posts   *int64 `json:"postsCount"`
	Follows *int64 `json:"followsCount"`
}

// compareCount compares the number in the network's index with the number of listed records. The index is a separate
// service that follows with a delay, and a server may have none. So differences up to one percent, and at least three
// records, are ignored; without an answer nothing is compared.
func (a *blueskyAccount) compareCount(ctx context.Context, stream string, listed int64) {
	if stream != "posts" && stream != "follows" {
		return
	}
	if a.index == nil {
		a.index = &indexCounts{}
		if a.getJSON(ctx, profileMethod, url.Values{"actor": {a.did}}, a.index) != nil {
			a.index = &indexCounts{}
		}
	}
	for _, one := range []struct {
		stream, member string
		number         *int64
	}{{"posts", "postsCount", a.index.Posts}, {"follows", "followsCount", a.index.Follows}} {
		if one.stream == stream && one.number != nil {
			a.setup.CompareCount(stream, "GET xrpc/"+profileMethod, one.member, *one.number-max(3, *one.number/100), listed)
		}
	}
}

// classifyCounts is classify for the index: only a refusal because of the pace or the session is an error of the
// account's server, and the run does without any other answer.
func classifyCounts(r *governhttp.Response) error {
	switch r.Status {
	case http.StatusOK, http.StatusUnauthorized, http.StatusTooManyRequests:
		return classifyResponse(r)
	}
	return connectorkit.Fail(connectorkit.NotFound, errUnexpectedShape)
}
