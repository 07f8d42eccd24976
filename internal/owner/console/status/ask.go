package status

import (
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

// askKind is the form in which a connection's page lets the owner act.
type askKind int

const (
	askNothing askKind = iota
	askRecovery
	askCredential
	askSignIn // in a browser here
	askAllow  // on a page of the provider's
	askQuestion
	askAgain     // something outside is to be fixed, and then tried again
	askDevice    // no device collects it, and one is to be connected
	askElsewhere // it is done on the machine that holds the data
	askButton    // one button beside the sentence
)

// ask is the one thing to act on.
type ask struct {
	kind   askKind
	action *verdict.RequiredAction
}

// askOf chooses by the first action of the verdict.
func askOf(s *shown) ask {
	if s.Recovery != nil {
		return ask{askRecovery, recoveryAction(&s.Verdict)}
	}
	if len(s.Verdict.RequiredActions) == 0 {
		return ask{}
	}
	a := &s.Verdict.RequiredActions[0]
	switch {
	case a.Audience != verdict.AudienceOwner:
		return ask{}
	case signsIn(&s.Connection, a):
		return ask{askSignIn, a}
	case a.Kind == verdict.Reauth && s.allows():
		return ask{askAllow, a}
	case a.Kind == verdict.Reauth:
		return ask{askCredential, a}
	case a.Kind == verdict.AddInfo && a.SatisfiedWhen.Kind == verdict.AttentionResolved:
		return ask{askQuestion, a}
	case a.Kind == verdict.AddInfo && s.SourceKind == localDevice:
		return ask{askDevice, a}
	case a.Kind == verdict.AddInfo:
		return ask{askAgain, a}
	case s.SourceKind == localDevice && a.Kind != verdict.ReattachSchedule:
		return ask{askElsewhere, a}
	default:
		return ask{askButton, a}
	}
}

// signsIn reports whether an action is taken on the page of a run's browser.
func signsIn(c *view.Connection, a *verdict.RequiredAction) bool {
	return c.SourceKind == browserSource && a.Kind == verdict.Reauth
}

// allows reports whether the owner signs in at the provider.
func (s *shown) allows() bool { return s.Connector != nil && s.Connector.Consent != nil }

// recoveryAction is the action that the recovery belongs to.
func recoveryAction(v *verdict.Verdict) *verdict.RequiredAction {
	for i := range v.RequiredActions {
		if v.RequiredActions[i].Remediation != nil {
			return &v.RequiredActions[i]
		}
	}
	return nil
}

// inCard reports whether the action has a card of its own below the sentence.
func (a ask) inCard() bool { return a.kind != askNothing && a.kind != askButton }

// credentialForm returns the form that the connector declares, or nil if the connector is unknown.
func (s *shown) credentialForm() *api.CredentialForm {
	if s.Connector == nil {
		return nil
	}
	return s.Connector.Form
}

// inputType is the type of an input. What is secret is never shown.
func inputType(f *api.CredentialField) string {
	switch {
	case f.Secret:
		return "password"
	case f.Type == "email", f.Type == "url", f.Type == "number", f.Type == "password":
		return f.Type
	default:
		return "text"
	}
}

// questionType is the type of an input of a question.
func questionType(f *api.QuestionField) string {
	if f.Secret {
		return "password"
	}
	return "text"
}
