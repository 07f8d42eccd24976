package declaration

import (
	"fmt"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// DisplayName returns the name that the owner entered, or fallback if it is empty. It returns an error for a name
// that is too long or has no characters.
func DisplayName(entered, fallback string) (string, error) {
	name := text.Line(entered)
	if name == "" {
		name = fallback
	}
	if !api.IsName(name) {
		return "", api.Invalid("display_name", fmt.Sprintf("A name has from 1 to %d characters.", api.LongestName),
			"Choose another name.")
	}
	return name, nil
}
