// Package googlecontacts collects a person's contacts from the Google People API.
//
//	manifest.json        what it declares: streams, schemas, the sign-in
//	google_contacts.go   open: environment in, client and collectors out
//	people.go            lists of people, and what changed of them
//	groups.go            the labels
//	map.go               how one person or label becomes one record
//
// How Google refuses, and how its lists tell changes, is connectorkit/googleapi.
package googlecontacts

import (
	"cmp"
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/googleapi"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Google Contacts connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

const (
	publicAPI   = "https://people.googleapis.com/v1"
	accessToken = "GOOGLE_CONTACTS_ACCESS_TOKEN"
)

// open runs once per run.
func open(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	client, err := s.HTTP(governhttp.Options{
		BaseURL: cmp.Or(s.Env("PDPP_GOOGLE_CONTACTS_BASE_URL"), publicAPI), Classify: googleapi.Classify("People API"), Token: s.Token(accessToken),
	})
	if err != nil {
		return nil, err
	}
	a := &api{client: client, draw: googleapi.Allowance(s)}
	return []connectorkit.Collector{
		a.people("contacts", list{"people/me/connections", "connections", "personFields", savedFields}),
		connectorkit.FullList{Stream: "groups", Page: a.groups},
		a.people("other_contacts", list{"otherContacts", "otherContacts", "readMask", otherFields}),
	}, nil
}
