// Package wallabag collects the articles that a person saved in Wallabag, with their text, tags and annotations.
//
//	manifest.json   what it declares: streams, schemas, the form for address, client and password
//	wallabag.go     where the lists are
package wallabag

import (
	_ "embed"
	"errors"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Wallabag connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	Base: rest.ServerURL("WALLABAG_URL", ""),
	Auth: rest.PasswordGrant{Path: "oauth/v2/token", Member: "access_token", Form: map[string]string{
		"client_id": "WALLABAG_CLIENT_ID", "client_secret": "WALLABAG_CLIENT_SECRET", "username": "WALLABAG_USERNAME",
		"password": "WALLABAG_PASSWORD"},
		Message: "Wallabag does not accept the sign-in. Connect again, and check client ID, client secret, user name and " +
			"password."},
	QuotaOf: []string{"WALLABAG_URL", "WALLABAG_USERNAME"},
	Account: &rest.Lookup{Request: rest.Request{Path: "api/user.json"}, Member: "id"},
	Streams: []rest.Stream{
		{Name: "tags", Request: rest.Request{Path: "api/tags.json"}, Fields: rest.Fields{"id": rest.NumberText("id")}},
		// Wallabag can list what was updated since a time, but tags, annotations and deletions update no article: every
		// run reads the list, and the texts of pages that changed.
		{Name: "entries", Request: rest.Request{Path: "api/entries.json", Query: url.Values{"perPage": {"50"},
			"sort": {"created"}, "order": {"asc"}, "detail": {"full"}}}, Items: "_embedded.items", Total: "total",
			Pages: rest.PageNumber{Param: "page", Last: "pages"}, OmitEmpty: true,
			Sync: rest.FullList{Light: url.Values{"detail": {"metadata"}}, Remembered: 1 << 20},
			Fields: rest.Fields{"id": rest.NumberText("id"), "created_at": rest.From("created_at").UTC(),
				"updated_at": rest.From("updated_at").UTC(), "published_at": rest.From("published_at").UTC(),
				"archived_at": rest.From("archived_at").UTC(), "starred_at": rest.From("starred_at").UTC(),
				"is_archived": flag("is_archived"), "is_starred": flag("is_starred"), "tags": rest.Each("label", "tags"),
				"annotations": rest.EachObject("annotations", map[string]string{"id": "id", "quote": "quote", "text": "text",
					"created_at": "created_at", "updated_at": "updated_at"})}},
	},
}

var errNoFlag = errors.New("neither 0 nor 1")

// flag is a boolean that Wallabag writes as a number.
func flag(name string) rest.Field {
	return rest.Computed(func(item rest.Item) (jsontext.Value, error) {
		switch string(item.Member(name)) {
		case "1", "true":
			return jsontext.Value("true"), nil
		case "0", "false":
			return jsontext.Value("false"), nil
		}
		return nil, errNoFlag
	})
}
