package example

import (
	"errors"
	"mime"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var errHTML = errors.New("the answer is a web page")

// classify says what an answer means. It handles what Lumen does in its own way
// and leaves the rest to the meaning of the status.
func classify(r *governhttp.Response) error {
	var refusal struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if r.Status >= 400 {
		_ = json.Unmarshal(r.Body, &refusal) // without a code, the status decides
	}
	switch refusal.Error.Code {
	case "invalid_cursor":
		// The log was rebuilt or the cursor belongs to another account: the
		// stream starts over and the store recognises what it has.
		return &connectorkit.Error{Class: connectorkit.CursorRejected, Status: r.Status}
	case "insufficient_scope":
		// Only a token with more scopes helps, which is the owner's to make.
		return &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status}
	}
	if err := connectorkit.ByStatus(r); err != nil {
		return err
	}
	// A proxy or a sign-in page answers 200 with HTML. Other labels are let
	// through: a body that decodes is good whatever it is called.
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "text/html" {
		return connectorkit.Fail(connectorkit.Malformed, errHTML)
	}
	return nil
}
