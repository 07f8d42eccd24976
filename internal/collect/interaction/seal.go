package interaction

import (
	"bytes"
	"crypto/hpke"
	"encoding/binary"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/protocol"
)

// suite makes the keys. It is the hybrid of a classical and a post-quantum
// exchange: an answer that a backup of the database has caught stays closed.
var suite = hpke.MLKEM768X25519()

// purpose separates these messages from every other use of the same scheme.
var purpose = []byte("pdpp interaction answer 1")

// sealedBlock is the size to which sealed answers are padded, so that they do not reveal the length of a password.
const sealedBlock = 256

// withdrawn replaces an answer, and is too short to be one.
var withdrawn = []byte("withdrawn")

// bind ties an answer to its question: moved to another one it does not open.
func (at questionID) bind() []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(at.runID)))
	return append(append(out, at.runID...), at.requestID...)
}

// seal closes the answer so that only the question's run can open it.
func seal(key []byte, at questionID, r protocol.InteractionResponse) ([]byte, error) {
	to, err := suite.NewPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("read the question's key: %w", err)
	}
	plain, err := json.Marshal(&r)
	if err != nil {
		return nil, errForm // the cause would repeat the answer
	}
	if short := len(plain) % sealedBlock; short > 0 {
		plain = append(plain, bytes.Repeat([]byte(" "), sealedBlock-short)...)
	}
	encapsulated, sender, err := hpke.NewSender(to, hpke.HKDFSHA256(), hpke.AES256GCM(), purpose)
	if err != nil {
		return nil, fmt.Errorf("seal the answer: %w", err)
	}
	sealed, err := sender.Seal(at.bind(), plain)
	if err != nil {
		return nil, fmt.Errorf("seal the answer: %w", err)
	}
	return append(encapsulated, sealed...), nil
}

// open is the inverse of seal. Its error reveals only that the sealed text is no answer to this question.
func open(key hpke.PrivateKey, at questionID, sealed []byte) (r protocol.InteractionResponse, err error) {
	if len(sealed) <= encapsulatedSize {
		return r, errUnreadable
	}
	recipient, err := hpke.NewRecipient(sealed[:encapsulatedSize], key, hpke.HKDFSHA256(), hpke.AES256GCM(), purpose)
	if err != nil {
		return r, errUnreadable
	}
	plain, err := recipient.Open(at.bind(), sealed[encapsulatedSize:])
	if err != nil || json.Unmarshal(plain, &r) != nil || r.RequestID != at.requestID {
		return protocol.InteractionResponse{}, errUnreadable
	}
	return r, nil
}

// encapsulatedSize is the length of what a sender of the suite puts in front: an
// ML-KEM-768 ciphertext and an X25519 point.
const encapsulatedSize = 1088 + 32
