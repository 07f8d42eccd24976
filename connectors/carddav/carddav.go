// Package carddav collects the address books of a person from any CardDAV server: iCloud,
// Fastmail, Nextcloud, Radicale and others.
//
//	manifest.json   what it declares: streams, schemas, variables, setup
//	carddav.go      newCollectors: environment in, collectors out
//	map.go          how an address book and a card become records
//
// How an account is found and followed is connectorkit/dav.
package carddav

import (
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/dav"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the CardDAV connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	a, err := dav.OpenAccount(s, dav.AddressBooks, s.Env("CARDDAV_URL"), s.Env("CARDDAV_USERNAME"),
		s.Env("CARDDAV_PASSWORD"))
	if err != nil {
		return nil, err
	}
	return []connectorkit.Collector{
		a.CollectionStream("address_books", addressBookRecord),
		a.ObjectStream("contacts", func(dav.Collection) bool { return true }, contactsFromObject),
	}, nil
}
