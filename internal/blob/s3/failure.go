package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cairn-rag/cairn/internal/blob"
)

const noSuchUpload = "NoSuchUpload"

// failure returns the error of a request as blob.Bucket states it.
func failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	switch codeOf(err) {
	case "NoSuchBucket":
		return blob.Gone(ctx, err)
	case "SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequests", "RequestTimeout", noSuchUpload:
		return blob.Unavailable(ctx, err)
	case "ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken":
		return blob.Refused(ctx, err)
	case "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		return blob.Gone(ctx, fmt.Errorf("the bucket may be in another region than blob.url names: %w", err))
	}
	switch status := statusOf(err); {
	case status == http.StatusMovedPermanently:
		return blob.Gone(ctx, fmt.Errorf("the bucket is in another region than blob.url names: %w", err))
	case status >= http.StatusMultipleChoices:
		return blob.FromStatus(ctx, status, err)
	}
	return blob.Unavailable(ctx, err)
}

// codeOf returns the code of S3's error, "" if err is none.
func codeOf(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	return ""
}

// statusOf returns the HTTP status of an error, 0 if there was no answer.
func statusOf(err error) int {
	if e, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && e.Response != nil {
		return e.Response.StatusCode
	}
	return 0
}
