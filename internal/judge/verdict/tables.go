package verdict

// DecisionTable is one of the decision tables, for the documentation.
type DecisionTable struct {
	Name string
	Head []string
	Rows [][]string
}

// Tables returns the tables in the order of use.
func Tables() []DecisionTable {
	tones := DecisionTable{Name: "tone", Head: []string{"axis", "value", "tone"}}
	for _, a := range toneTable {
		for _, v := range a.Votes {
			tones.Rows = append(tones.Rows, []string{a.Axis, v.Value, string(v.Tone)})
		}
	}
	labels := DecisionTable{Name: "label", Head: []string{"tone", "label"}}
	for _, l := range labelTable {
		labels.Rows = append(labels.Rows, []string{string(l.Tone), l.Label})
	}
	actions := DecisionTable{
		Name: "actions",
		Head: []string{"rule", "when", "kind", "audience", "urgency", "satisfied_when"},
	}
	for i := range actionRules {
		a := &actionRules[i]
		actions.Rows = append(actions.Rows, []string{
			a.Name, a.When, string(a.Kind), string(a.Audience), string(a.Urgency), string(a.Satisfied),
		})
	}
	channels := DecisionTable{Name: "channel", Head: []string{"audience", "urgency", "satisfied_when", "channel"}}
	for _, c := range channelTable {
		channels.Rows = append(channels.Rows, []string{
			orAny(string(c.Audience)), orAny(string(c.Urgency)), orAny(string(c.Satisfied)), string(c.Channel),
		})
	}
	return []DecisionTable{tones, labels, actions, channels}
}

func orAny(value string) string {
	if value == "" {
		return "any"
	}
	return value
}
