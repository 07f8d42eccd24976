package rest

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// GraphQLPages sends a query of GraphQL by POST, and reads the pages of a connection: a list with the member pageInfo.
// The query declares the variable $after, which has the cursor of a page. It is the Pages of a stream also if there is
// one answer; Connection is empty then, and the query has no variable.
//
// Refusals in a good answer need an ErrorRule with AnyStatus for the member errors.
type GraphQLPages struct {
	Query      string
	Connection string // path, such as data.viewer.issues
}

// SetPage implements Pager.
func (p GraphQLPages) SetPage(q *governhttp.Request, token string) (err error) {
	body := map[string]any{"query": p.Query}
	if token != "" {
		body["variables"] = map[string]string{"after": token}
	}
	q.Method = http.MethodPost
	if q.Header == nil {
		q.Header = http.Header{}
	}
	q.Header.Set("Content-Type", "application/json")
	q.Body, err = json.Marshal(body, json.Deterministic(true))
	return err
}

// NextPage implements Pager.
func (p GraphQLPages) NextPage(a *Answer, o PageOutcome) (string, error) {
	if p.Connection == "" {
		return "", nil
	}
	return NextToken{Member: p.Connection + ".pageInfo.endCursor",
		More: p.Connection + ".pageInfo.hasNextPage"}.NextPage(a, o)
}
