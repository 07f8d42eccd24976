package gitea

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var errForm = errors.New("the answer is not that of a Gitea or Forgejo server")

// wordsScope is what the owner is told when the token may do too little.
const wordsScope = "The token lacks a permission. On the server open Settings, Applications, make a token with Read for issue, repository and user, and connect again with it."

// classify says what an answer means. A token without a permission is refused with 403 and a
// message that names the scopes.
func classify(r *governhttp.Response) error {
	if r.Status == http.StatusOK {
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			return connectorkit.Fail(connectorkit.Malformed, errForm)
		}
		return connectorkit.WholeJSON(r)
	}
	err := connectorkit.ByStatus(r)
	var e *connectorkit.Error
	var refusal struct {
		Message string `json:"message"`
	}
	if errors.As(err, &e) && e.Class == connectorkit.Forbidden && json.Unmarshal(r.Body, &refusal) == nil && strings.Contains(refusal.Message, "scope") {
		e.OwnerMessage = wordsScope
	}
	return err
}
