package collector

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/protocol"
)

// limits is the owner's collection scope in the form that a run receives.
type limits struct {
	streams []protocol.StreamScope // empty: all of them, whole
	folders string                 // a JSON list of paths; empty: all that the connector knows
}

// limits reads the owner's scope and the deleted streams from the server's state. A foreign connector
// may not know of folders, and is not started with a promise that it would break.
func (p *pass) limits(found catalog.Connector) (limits, error) {
	scope, err := p.server.Scope()
	if err != nil {
		return limits{}, err
	}
	deleted, err := p.server.DeletedStreams()
	if err != nil {
		return limits{}, err
	}
	var l limits
	if within := scope.TimeRange(); within != nil || len(deleted) > 0 {
		for i := range found.Manifest.Streams {
			s := protocol.StreamScope{Name: found.Manifest.Streams[i].Name}
			if slices.Contains(deleted, s.Name) {
				continue
			}
			if found.Manifest.Streams[i].ConsentTimeField != "" {
				s.TimeRange = within
			}
			l.streams = append(l.streams, s)
		}
		if len(l.streams) == 0 {
			return l, operatorFault("nothing_to_collect",
				"Collect them again (pdpp deletions collect on the server), or remove this source.",
				"the owner deleted every stream of this source")
		}
	}
	if len(scope.SourceRoots) == 0 {
		return l, nil
	}
	if !found.Builtin {
		return l, operatorFault("folders_unknown",
			"Add the device again without folders, or take the connector's own settings to limit it.",
			"the connector %s cannot be limited to folders, and the owner named some", found.Name)
	}
	folders := make([]string, len(scope.SourceRoots))
	for i, root := range scope.SourceRoots {
		if folders[i], err = onThisHost(root); err != nil {
			return l, err
		}
	}
	text, err := json.Marshal(folders)
	l.folders = string(text)
	return l, err
}

// onThisHost is the path of a folder as its owner wrote it, which may begin at home.
func onThisHost(root string) (string, error) {
	below, atHome := strings.CutPrefix(root, "~")
	if !atHome {
		return filepath.FromSlash(root), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w", err)
	}
	return filepath.Join(home, filepath.FromSlash(below)), nil
}
