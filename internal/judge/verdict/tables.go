package verdict

// Table is one of the rules' tables in a form that a document can be held to.
type Table struct {
	Name string
	Head []string
	Rows [][]string
}

// Tables returns the tables that verdicts are made from, in the order of use.
func Tables() []Table {
	tones := Table{Name: "tone", Head: []string{"axis", "value", "tone"}}
	for _, a := range toneTable {
		for _, v := range a.Votes {
			tones.Rows = append(tones.Rows, []string{a.Axis, v.Value, string(v.Tone)})
		}
	}
	labels := Table{Name: "label", Head: []string{"tone", "label"}}
	for _, l := range labelTable {
		labels.Rows = append(labels.Rows, []string{string(l.Tone), l.Label})
	}
	actions := Table{Name: "actions", Head: []string{"rule", "when", "kind", "audience", "urgency", "satisfied_when"}}
	for i := range actionRules {
		a := &actionRules[i]
		actions.Rows = append(actions.Rows, []string{
			a.Name, a.When, string(a.Kind), string(a.Audience), string(a.Urgency), string(a.Satisfied),
		})
	}
	channels := Table{Name: "channel", Head: []string{"audience", "urgency", "satisfied_when", "channel"}}
	for _, c := range channelTable {
		channels.Rows = append(channels.Rows, []string{
			orAny(string(c.Audience)), orAny(string(c.Urgency)), orAny(string(c.Satisfied)), string(c.Channel),
		})
	}
	return []Table{tones, labels, actions, channels}
}

func orAny(value string) string {
	if value == "" {
		return "any"
	}
	return value
}
