package launch

import (
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// missingNeeds is the end of a run that lacks something which the owner provides. The connector is
// not started: what it would report of it is something else, or nothing.
func missingNeeds(lack *catalog.NeedError) *runner.Outcome {
	f := &runner.Failure{Reason: runner.Reason(evidence.MissingReason(evidence.Dimension(lack.Need))),
		Origin: runner.OriginRuntime, Message: lack.Error(), Err: lack}
	return &runner.Outcome{Status: runner.Failed, Failure: f, ExitCode: -1}
}
