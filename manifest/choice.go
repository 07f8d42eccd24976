package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// ChoiceError reports that a selection by name cannot be collected, because the manifest does not declare it, or
// no longer does.
type ChoiceError struct {
	Param string // profile, view or stream
	Why   string
	Have  []string // available choices
}

func (e *ChoiceError) Error() string {
	if len(e.Have) == 0 {
		return e.Why
	}
	return e.Why + "; there are " + strings.Join(e.Have, ", ")
}

// Choose limits a scope to the streams of a profile and the fields of views. The views are keyed by stream and
// take precedence over those of the profile. Streams that the owner deleted are left out. An empty profile means
// none, and an empty scope means everything that can be collected. Choose never widens a scope. It returns a
// *ChoiceError for an undeclared choice and for a deleted stream that the scope names.
func (m *Manifest) Choose(scope []protocol.StreamScope, profile string, views map[string]string,
	deleted []string) ([]protocol.StreamScope, error) {
	chosen := m.Profile(profile)
	if profile != "" && chosen == nil {
		return nil, &ChoiceError{
			Param: "profile",
			Why:   fmt.Sprintf("the connector %s declares no profile %q", m.Key(), profile),
			Have:  m.profileNames(),
		}
	}
	asked := len(scope) > 0
	if !asked {
		scope = m.DefaultScope()
	}
	var out []protocol.StreamScope
	for _, s := range scope {
		if slices.Contains(deleted, s.Name) {
			if asked {
				return nil, &ChoiceError{Param: "stream", Why: "you deleted the stream " + s.Name}
			}
			continue
		}
		view := views[s.Name]
		if chosen != nil {
			i := slices.IndexFunc(chosen.Streams, func(p ProfileStream) bool { return p.Name == s.Name })
			if i < 0 && asked {
				return nil, &ChoiceError{
					Param: "stream",
					Why:   fmt.Sprintf("the profile %s leaves out the stream %s", profile, s.Name),
				}
			}
			if i < 0 {
				continue
			}
			if view == "" {
				view = chosen.Streams[i].View
			}
		}
		fields, err := m.viewFields(s.Name, view)
		if err != nil {
			return nil, err
		}
		if fields != nil {
			s.Fields = fields
		}
		out = append(out, s)
	}
	switch {
	case len(out) == 0 && profile == "":
		return nil, &ChoiceError{Param: "stream", Why: "you deleted every stream of this connection"}
	case len(out) == 0:
		return nil, &ChoiceError{
			Param: "profile",
			Why:   fmt.Sprintf("nothing of the profile %s can be collected", profile),
			Have:  m.profileNames(),
		}
	}
	return out, nil
}

// viewFields returns the fields of a view. Nil means all.
func (m *Manifest) viewFields(stream, id string) ([]string, error) {
	if id == "" {
		return nil, nil
	}
	s, declared := m.Stream(stream)
	if !declared {
		return nil, &ChoiceError{Param: "stream", Why: fmt.Sprintf("the connector %s declares no stream %q", m.Key(), stream)}
	}
	view := s.View(id)
	if view == nil {
		names := make([]string, len(s.Views))
		for i, v := range s.Views {
			names[i] = v.ID
		}
		return nil, &ChoiceError{Param: "view", Why: fmt.Sprintf("the stream %s has no view %q", stream, id), Have: names}
	}
	if s.Selection == nil || !s.Selection.Fields {
		return nil, &ChoiceError{
			Param: "view",
			Why:   fmt.Sprintf("the stream %s is collected whole: its connector selects no fields", stream),
		}
	}
	return slices.Clone(view.Fields), nil
}

func (m *Manifest) profileNames() []string {
	names := make([]string, len(m.Profiles))
	for i, p := range m.Profiles {
		names[i] = p.ID
	}
	return names
}
