//pdpp:tier servers

package imap_test

import (
	"encoding/json"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
)

// target is the connector against accounts on a real server.
func target(t *testing.T, at func(testing.TB) house, messages int) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "imap"),
		Start: func(t *testing.T) *connectortest.Sim {
			_, sim := openTestAccount(t, at(t), messages)
			return sim
		},
		Credential: "IMAP_PASSWORD",
		Changes: []providersim.Mutation{
			{Op: "deliver", N: 7}, {Op: "flag", N: 4}, {Op: "unsee", N: 3}, {Op: "move", N: 2}, {Op: "remove", N: 3},
			{Op: "file", N: 3}, {Op: "renumber", N: 4},
		},
		Deletion: providersim.Mutation{Op: "remove", N: 3}, DeletedStream: "messages",
		Lane: &connectortest.ListDetailParts{
			List: "messages", Detail: "bodies", Along: []string{"attachments"}, DetailPath: "/body/", TimeField: "received_at",
			Item: itemOf,
		},
		Scoped: "messages", OptionalField: "subject", Wordless: true, Beside: true,
		Leave: map[string]string{"recovery only": "texts are read on by their own bookmark, which moves with them"},
	}
}

// itemOf is the message that a text or an attachment belongs to.
func itemOf(data json.RawMessage) string {
	var d struct {
		ID      string `json:"id"`
		Message string `json:"message_id"`
	}
	_ = json.Unmarshal(data, &d) // what names none belongs to none
	if d.Message != "" {
		return d.Message
	}
	return d.ID
}

func TestConformance(t *testing.T) { connectortest.Run(t, target(t, theDovecot, 32)) }
