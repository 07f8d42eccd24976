package github_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/github"
)

// TestForgottenIssues deletes issues while no bookmark remembers them. A list by the time of the last update never
// shows a deletion; the whole list does.
func TestForgottenIssues(t *testing.T) {
	connectortest.ForgottenStream(t, testTarget(t, roomy()), github.StreamIssues,
		providersim.Mutation{Op: "delete_issues", N: 3})
}
