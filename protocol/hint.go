package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// RecoveryHint describes what would make the rest collectable. Its JSON form is the action or an object with
// exactly these two members.
type RecoveryHint struct {
	Action    RecoveryAction `json:"action"`
	Retryable *bool          `json:"retryable,omitzero"`
}

const errRecoveryHint = wireError("recovery_hint: an action or {action, retryable}")

// UnmarshalJSONFrom accepts both forms and rejects any other member.
func (h *RecoveryHint) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch v.Kind() {
	case '"':
		s, err := unquote(v)
		*h = RecoveryHint{Action: RecoveryAction(s)}
		return err
	case '{':
		type plain RecoveryHint
		var p plain
		if err := json.Unmarshal(v, &p, json.RejectUnknownMembers(true)); err != nil {
			return errRecoveryHint
		}
		*h = RecoveryHint(p)
		return nil
	default:
		return errRecoveryHint
	}
}

// UnmarshalJSONFrom rejects unknown members, because they could contain content that must not be stored.
func (e *DoneError) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain DoneError
	var p plain
	err := json.UnmarshalDecode(dec, &p, json.RejectUnknownMembers(true))
	*e = DoneError(p)
	return err
}
