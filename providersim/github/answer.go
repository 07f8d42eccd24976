package github

import (
	"net/http"
	"strconv"

	"github.com/pdpp-go/pdpp/providersim"
)

const (
	docsRest      = "https://docs.github.com/rest"
	docsPrimary   = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
	docsSecondary = docsPrimary + "#about-secondary-rate-limits"

	sayPrimary   = "API rate limit exceeded for user ID 5081. If you reach out to GitHub Support for help, please include the request ID."
	saySecondary = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. " +
		"If you reach out to GitHub Support for help, please include the request ID."
	sayAgent = "Request forbidden by administrative rules. Please make sure your request has a User-Agent header."
)

// answer is what an endpoint gives: a value or a refusal, and headers.
type answer struct {
	status int
	value  any
	header http.Header
}

func ok(value any) answer { return answer{status: http.StatusOK, value: value, header: http.Header{}} }

// refuse is an error in GitHub's shape.
func refuse(status int, message, docs string) answer {
	return answer{status: status, header: http.Header{}, value: refusal(status, message, docs)}
}

func refusal(status int, message, docs string) object {
	return object{"message": message, "documentation_url": docs, "status": strconv.Itoa(status)}
}

func notFound() answer { return refuse(http.StatusNotFound, "Not Found", docsRest) }

// with adds a header to an answer.
func (a answer) with(name, value string) answer {
	a.header.Set(name, value)
	return a
}

// faultBody is how GitHub words what a fault of the gate makes it say.
func faultBody(code string) []byte {
	switch code {
	case "rate_limited":
		return providersim.EncodeJSON(object{"documentation_url": docsSecondary, "message": saySecondary})
	case "token_expired":
		return providersim.EncodeJSON(refusal(http.StatusUnauthorized, "Bad credentials", docsRest))
	case "unavailable":
		return providersim.EncodeJSON(object{"message": "No server is currently available to service your request."})
	}
	return providersim.EncodeJSON(object{"message": "Server Error"})
}
