package verdict

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// TestStatementOfEachStream checks every row against its evidence.
func TestStatementOfEachStream(t *testing.T) {
	drain := func(in *Input) { gap(health.Partial, health.DispositionResumable)(in) }
	row := func(p health.Priority, c health.Coverage, changes ...func(*Input)) Input {
		return healthy(append(changes, func(in *Input) { in.Streams[2].Priority, in.Streams[2].Coverage = p, c })...)
	}
	blocked := row(health.RequiredStream, health.Partial, state(health.Blocked), syncing)
	asked := row(health.RequiredStream, health.Partial)
	asked.Streams[2].AttentionOpen = true
	kept := func(in Input, n int64) Input {
		in.Streams[2].Retained = &n
		return in
	}
	counted := kept(row(health.RequiredStream, health.RetryableGap, manual), 0)
	counted.Streams[2].Missing = new(int64(3))
	report := func(in Input) Input {
		in.Streams[2].SelfReported = true
		return in
	}
	for name, c := range map[string]struct {
		in   Input
		want sentenceID
	}{
		"nothing, on its way":  {kept(row(health.RequiredStream, health.Partial), 0), rowNothingOnItsWay},
		"nothing, manual":      {kept(row(health.RequiredStream, health.Partial, manual), 0), rowNothing},
		"some of it, manual":   {kept(row(health.RequiredStream, health.Partial, manual), 1), rowMissing},
		"counted, manual":      {counted, rowMissing},
		"complete":             {row(health.RequiredStream, health.Complete), rowComplete},
		"complete, stale":      {row(health.RequiredStream, health.Complete, staleManual), rowAsOfRefresh},
		"as reported":          {report(row(health.RequiredStream, health.Complete)), rowCompleteReported},
		"as reported, stale":   {report(row(health.RequiredStream, health.Complete, staleManual)), rowAsOfRefreshReported},
		"as reported, missing": {report(row(health.RequiredStream, health.Partial, manual)), rowMissing},
		"deferred":             {row(health.RequiredStream, health.Deferred), rowDeferred},
		"listed":               {row(health.RequiredStream, health.InventoryOnly), rowInventory},
		"not known":            {row(health.RequiredStream, health.CoverageUnknown), rowUnknown},
		"a value of no kind":   {row(health.RequiredStream, "most"), rowUnknown},
		"missing, on its way":  {row(health.RequiredStream, health.Partial), rowMissingOnItsWay},
		"missing, blocked":     {blocked, rowMissing},
		"missing, manual":      {row(health.RequiredStream, health.Partial, manual), rowMissing},
		"missing, optional":    {row(health.OptionalStream, health.Partial, drain), rowMissing},
		"asked":                {asked, rowAwaiting},
		"lost":                 {row(health.RequiredStream, health.TerminalGap), rowTerminalGap},
		"unsupported":          {row(health.RequiredStream, health.Unsupported), rowUnsupported},
		"unavailable":          {row(health.OptionalStream, health.Unavailable), rowUnavailable},
		"accepted unsupported": {row(health.AcceptedAbsence, health.Unsupported), rowUnsupportedAccepted},
		"accepted unavailable": {row(health.AcceptedAbsence, health.Unavailable), rowUnavailableAccepted},
		"accepted deferred":    {row(health.AcceptedAbsence, health.Deferred), rowAccepted},
		"accepted listed":      {row(health.AcceptedAbsence, health.InventoryOnly), rowInventoryAccepted},
		"accepted loss":        {row(health.AcceptedAbsence, health.TerminalGap), rowAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge(t, c.in).Streams[2].Statement; got != sentence(c.want) {
				t.Errorf("statement %q, want %q", got, sentence(c.want))
			}
		})
	}
}
