package words

import (
	"strings"

	"github.com/pdpp-go/pdpp/declarative/review"
)

// SourceChange returns one sentence about a difference between two files of a source.
func SourceChange(c review.SourceChange) string {
	switch {
	case c.Kind == review.HostKind && c.Added:
		return "Talks to " + c.Name + "."
	case c.Kind == review.HostKind:
		return "No longer talks to " + c.Name + "."
	case c.Kind == review.SecretKind && c.Added:
		return "Sends the secret " + c.Name + "."
	case c.Kind == review.SecretKind:
		return "No longer sends the secret " + c.Name + "."
	case c.Kind == review.POSTKind && c.Added:
		return "Sends POST requests for " + c.Name + ", which can change something at the provider."
	case c.Kind == review.POSTKind:
		return "Sends no more POST requests for " + c.Name + "."
	case c.Kind == review.SettingKind && c.Added:
		return "Asks for " + c.Name + "."
	case c.Kind == review.SettingKind:
		return "No longer asks for " + c.Name + "."
	case c.Kind == review.StreamKind && c.Added:
		return "Collects " + c.Name + "."
	case c.Kind == review.StreamKind:
		return "No longer collects " + c.Name + "."
	case c.Added:
		return "Cannot collect " + c.Name + "."
	}
	return "No longer lists " + c.Name + " as something that it cannot collect."
}

// SourceHost returns a host of a source and who decides it.
func SourceHost(h review.SourceHost) string {
	switch {
	case h.Use == review.SignInPage:
		return h.Name + ", where you sign in"
	case len(h.Settings) == 0:
		return h.Name
	}
	if strings.HasPrefix(h.Name, "{") && strings.HasSuffix(h.Name, "}") {
		return "the host that you enter as " + strings.Join(h.Settings, ", ")
	}
	return h.Name + ", with what you enter as " + strings.Join(h.Settings, ", ")
}

// SourceSecret returns a secret of a source and where it goes.
func SourceSecret(s review.SourceSecret) string {
	if len(s.Places) == 0 {
		return s.Label + ", which is not sent"
	}
	return s.Label + ", in the " + strings.Join(s.Places, " and the ") + " of requests to these hosts only"
}
