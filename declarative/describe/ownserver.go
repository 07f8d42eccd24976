package describe

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/manifest"
)

// OwnServerField is the field of the form with which the owner declares that the hosts are a server of their own, and
// OwnServerYes its value. Only then requests go to private addresses or without encryption.
const (
	OwnServerField = "pdpp_own_server"
	OwnServerYes   = "yes"
)

// OwnServerVariable returns the variable that the connector receives the field in.
func OwnServerVariable(m *manifest.Manifest) string {
	return m.EnvPrefix() + "_" + strings.ToUpper(OwnServerField)
}

// MayBeOwnServer reports whether the owner can be the operator of the server: a setting decides a host, or the file
// names a private one.
func (d *Description) MayBeOwnServer() bool {
	return slices.ContainsFunc(d.Hosts, func(h Host) bool {
		name, _, _ := strings.Cut(h.Name, ":")
		return strings.Contains(h.Name, "{") || isPrivate(name)
	})
}

// IsPrivateHost reports whether the name of a host is that of this machine or of a private network.
func IsPrivateHost(host string) bool { return isPrivate(host) }

// ownServerField returns the field of the form.
func ownServerField(variable string) manifest.CredentialField {
	return manifest.CredentialField{Name: OwnServerField, Label: "This is my own server", Type: manifest.FieldCheckbox,
		HelpText: "Tick it only for a server that you run. Requests may then go to addresses of your own network, and " +
			"without encryption.",
		Env: []string{variable}}
}

// AskForOwnServer adds the field to the form of the manifest.
func (d *Description) AskForOwnServer() {
	form := d.Manifest.Setup.CredentialCapture
	if form == nil || !d.MayBeOwnServer() {
		return
	}
	form.Fields = append(form.Fields, ownServerField(OwnServerVariable(d.Manifest)))
}
