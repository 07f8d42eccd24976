package connectorkit

import (
	"github.com/pdpp-go/pdpp/connectorkit/internal/secretmask"
)

// Masking replaces secrets in the texts of records, before anything leaves the process. It
// knows shapes, not meanings: keys of clouds and of models, tokens, private keys,
// Authorization values, passwords in addresses. A secret becomes [redacted:kind:tag]; the
// tag is keyed by source, so that equal secrets look equal and none can be guessed from it.
type Masking string

const (
	MaskingOff      Masking = "off"
	MaskingStandard Masking = "standard"
	// MaskingStrict also takes words that look random, addresses of mail and telephone numbers.
	MaskingStrict Masking = "strict"
)

// MaskSecrets makes the run replace secrets, as the owner chose; anything but off and strict is
// standard. It belongs into Open.
func (s *Setup) MaskSecrets(choice string) {
	key := s.r.Env("PDPP_SOURCE_KEY")
	if key == "" {
		key = s.r.Env("PDPP_CONNECTOR_INSTANCE_ID")
	}
	switch Masking(choice) {
	case MaskingOff:
		s.r.Masks = nil
	default:
		s.r.Masks = secretmask.NewMasker([]byte(key), Masking(choice) == MaskingStrict)
	}
}
