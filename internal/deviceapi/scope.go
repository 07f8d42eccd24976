package deviceapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// narrow returns the scope of a source: that of the owner, or less if the device asks for less. Nil means everything.
func narrow(owners jsontext.Value, wanted *wire.CollectionScope) (jsontext.Value, error) {
	if wanted == nil {
		return owners, nil
	}
	var most wire.CollectionScope
	if len(owners) > 0 {
		if err := json.Unmarshal(owners, &most); err != nil {
			return nil, err
		}
	}
	switch {
	case wanted.Since == nil:
	case most.Since != nil && wanted.Since.Before(*most.Since):
		return nil, tooWide("since", "The owner lets a later part be collected.")
	default:
		most.Since = wanted.Since
	}
	if len(wanted.SourceRoots) > 0 {
		for _, root := range wanted.SourceRoots {
			if !wire.IsRoot(root) {
				return nil, tooWide("source_roots", "A folder is named from its root on.")
			}
			if len(most.SourceRoots) > 0 && !slices.ContainsFunc(most.SourceRoots,
				func(outer string) bool { return contains(outer, root) }) {
				return nil, tooWide("source_roots", "The owner lets other folders be collected.")
			}
		}
		most.SourceRoots = wanted.SourceRoots
	}
	if most.Since == nil && len(most.SourceRoots) == 0 {
		return nil, nil
	}
	return json.Marshal(most)
}

// contains reports whether inner is outer or a folder below it.
func contains(outer, inner string) bool {
	outer, inner = wire.CleanRoot(outer), wire.CleanRoot(inner)
	return outer == inner || strings.HasPrefix(inner, strings.TrimSuffix(outer, "/")+"/")
}

func tooWide(param, message string) error {
	return &usererr.Error{Status: http.StatusBadRequest, Code: wire.CodeScopeTooWide, Param: param, Message: message,
		Next: "Ask for no more than the code allows."}
}
