package ui

import (
	"net/url"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// SourceFileAddress is the page on which the owner adds a source from a file. No connector has a name with a hyphen.
const SourceFileAddress = "/sources/add/from-file"

// ChangedFileAddress returns the address of the page that shows what changed in the file of an installed source.
func ChangedFileAddress(name string) string {
	return SourceFileAddress + "?" + url.Values{"name": {name}}.Encode()
}

// FileChanged reports whether a connector is declared by a file that is not the one that the owner accepted.
func FileChanged(c *api.Connector) bool {
	return c != nil && c.Foreign != nil && c.SourceFile && !c.Foreign.Confirmed
}
