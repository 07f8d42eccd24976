package googlecontacts

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// groupMembers counts the members of each group in a walk through all contacts within one run. A nil one counts
// nothing.
type groupMembers struct {
	counted map[string]int64 // nil while no walk from the first page is under way
	whole   bool
}

func membersOf(r *rest.Run) *groupMembers {
	members, _ := r.Memory("group members", func() any { return &groupMembers{} }).(*groupMembers)
	return members
}

// countingMembers returns the stream of contacts with a count of each group's members.
func countingMembers(contacts rest.Stream) rest.Stream {
	contacts.Prepare = func(_ context.Context, r *rest.Run, ask rest.Ask, _ *governhttp.Request) error {
		membersOf(r).beginPage(ask)
		return nil
	}
	items := contacts.Select
	contacts.Select = func(a *rest.Answer) ([]jsontext.Value, error) {
		membersOf(a.Run()).whole = a.Text(pages.Member) == ""
		return items(a)
	}
	contacts.Read = func(i rest.Item) rest.Row { return readPerson(i.Raw, membersOf(i.Run)) }
	return contacts
}

func (g *groupMembers) beginPage(ask rest.Ask) {
	if ask.Since != "" {
		g.counted = nil
	} else if ask.Page == "" {
		g.counted = map[string]int64{}
	}
}

func (g *groupMembers) addMember(groups []string) {
	if g == nil || g.counted == nil {
		return
	}
	for _, id := range groups {
		g.counted[id]++
	}
}

// comparedCount returns Google's count of a label, and compares it with the contacts of this run that have the label.
func comparedCount(item rest.Item) (jsontext.Value, error) {
	var wire struct {
		ID      string `json:"resourceName"`
		Type    string `json:"groupType"`
		Members int64  `json:"memberCount"`
	}
	if err := json.Unmarshal(item.Raw, &wire); err != nil {
		return nil, err
	}
	// Google's own labels also count people who are no contacts.
	if g := membersOf(item.Run); wire.Type == "USER_CONTACT_GROUP" && g.whole && g.counted != nil {
		item.Run.Setup.CompareCount("groups", "GET v1/contactGroups", "contactGroups/[]/memberCount", wire.Members,
			g.counted[wire.ID])
	}
	return json.Marshal(wire.Members)
}
