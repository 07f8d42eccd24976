package health

import "strings"

// DecisionTable is one of the decision tables, for the documentation.
type DecisionTable struct {
	Name string
	Head []string
	Rows [][]string
}

// Tables returns the tables in the order in which evidence passes through them.
func Tables() []DecisionTable {
	return []DecisionTable{
		outboxTable(), coverageTable(), skipTable(), freshnessTable(), conditionsTable(), headlineTable(), dispositionTable(),
	}
}

func headlineTable() DecisionTable {
	t := DecisionTable{Name: "headline", Head: []string{"rule", "when", "state"}}
	for i := range headlineRules {
		r := &headlineRules[i]
		t.Rows = append(t.Rows, []string{r.Name, r.When, string(r.State)})
	}
	return t
}

func conditionsTable() DecisionTable {
	t := DecisionTable{Name: "conditions", Head: []string{"type", "status", "severity", "reason", "remedy"}}
	for _, of := range ConditionTypes {
		for _, c := range conditionTable {
			if c.Type != of {
				continue
			}
			remedy := ""
			if c.Remediation != nil {
				remedy = string(c.Remediation.Action)
			}
			t.Rows = append(t.Rows, []string{string(c.Type), string(c.Status), string(c.Severity), c.Reason, remedy})
		}
	}
	return t
}

func outboxTable() DecisionTable {
	t := DecisionTable{Name: "outbox", Head: []string{"when", "axis", "cause"}}
	for i := range outboxRules {
		t.Rows = append(t.Rows, []string{outboxRules[i].When, string(outboxRules[i].Axis), string(outboxRules[i].Cause)})
	}
	return t
}

// coverageTable lists each coverage with the disposition that it leads to.
func coverageTable() DecisionTable {
	t := DecisionTable{Name: "coverage", Head: []string{"coverage", "condition", "severity", "what becomes of it"}}
	for _, c := range coverageOrder {
		row := coverageRows[c]
		d := DeriveDisposition(DispositionInput{Coverage: c, Freshness: Fresh})
		t.Rows = append(t.Rows, []string{string(c), string(row.Status), string(row.Severity), string(d)})
	}
	return t
}

func skipTable() DecisionTable {
	t := DecisionTable{Name: "skips", Head: []string{"the reason holds", "coverage"}}
	for _, f := range skipFamilies {
		t.Rows = append(t.Rows, []string{strings.ReplaceAll(strings.Join(f.Words, ", "), "_rate_", "rate as a word"),
			string(f.Coverage)})
	}
	return DecisionTable{t.Name, t.Head, append(t.Rows, []string{"none of these", string(TerminalGap)})}
}

func freshnessTable() DecisionTable {
	t := DecisionTable{Name: "freshness", Head: []string{"when", "axis"}}
	for i := range freshnessRules {
		t.Rows = append(t.Rows, []string{freshnessRules[i].When, string(freshnessRules[i].Axis)})
	}
	return t
}

func dispositionTable() DecisionTable {
	t := DecisionTable{Name: "disposition", Head: []string{"when", "disposition"}}
	for i := range dispositionRules {
		t.Rows = append(t.Rows, []string{dispositionRules[i].When, string(dispositionRules[i].Result)})
	}
	return t
}
