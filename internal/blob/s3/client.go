package s3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// defaultRegion is the region of requests for which none is configured. Services
// that are compatible with S3 accept any.
const defaultRegion = "us-east-1"

// Tries of one request. An activity repeats a step with longer delays.
const (
	attempts   = 3
	maxBackoff = time.Second
)

// Config configures a Bucket.
type Config struct {
	// Bucket is the name of a bucket that exists.
	Bucket string
	// Prefix begins the keys of all objects. It is empty or ends in "/".
	Prefix string
	// Endpoint is the address of a service that is compatible with S3. Defaults to AWS.
	Endpoint string
	// Region is the bucket's. Defaults to the region in the environment, else us-east-1.
	Region string
	// PathStyle puts the name of the bucket into the path of a request. Without it the
	// name is a part of the host.
	PathStyle bool
	// Credentials is JSON with access_key_id, secret_access_key and, for temporary keys,
	// session_token. Defaults to the chain of the SDK: variables of the environment,
	// files, the identity of the machine.
	Credentials []byte
	// Client makes the requests.
	Client *http.Client
}

// Bucket implements blob.Bucket.
type Bucket struct {
	client *s3.Client
	name   string
	prefix string
}

// New returns the bucket. It fetches the credentials, but does not ask the bucket.
func New(ctx context.Context, c Config) (*Bucket, error) {
	options := []func(*config.LoadOptions) error{
		config.WithDefaultRegion(defaultRegion),
		config.WithRetryer(newRetryer),
		config.WithLogger(logging.Nop{}), // errors are returned
	}
	if c.Region != "" {
		options = append(options, config.WithRegion(c.Region))
	}
	if c.Credentials != nil {
		provider, err := static(c.Credentials)
		if err != nil {
			return nil, err
		}
		options = append(options, config.WithCredentialsProvider(provider))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("read the configuration of the AWS SDK: %w", err)
	}
	if _, err := loaded.Credentials.Retrieve(ctx); err != nil {
		return nil, fmt.Errorf("find credentials for S3: set blob.credentials_env, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role: %w", err)
	}
	client := s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.HTTPClient = c.Client
		o.UsePathStyle = c.PathStyle
		o.DisableLogOutputChecksumValidationSkipped = true
		if c.Endpoint != "" {
			compatible(o, c.Endpoint)
		}
	})
	return &Bucket{client: client, name: c.Bucket, prefix: c.Prefix}, nil
}

// compatible prepares requests to a service that does not know the newer checksums.
func compatible(o *s3.Options, endpoint string) {
	o.BaseEndpoint = &endpoint
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
}

// withMD5 adds the checksum that older services need for the removal of many objects, and for an
// object of a bucket with object lock.
func withMD5(o *s3.Options) {
	if o.BaseEndpoint != nil {
		o.APIOptions = append(o.APIOptions, smithyhttp.AddContentChecksumMiddleware)
	}
}

func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff = attempts, maxBackoff
		// The bucket of tokens would fail the writes of a busy server for as long as its
		// service is restarted.
		o.RateLimiter = ratelimit.None
	})
}

// static returns the credentials of a secret. Its errors do not repeat the secret.
func static(secret []byte) (aws.CredentialsProvider, error) {
	var k struct {
		ID     string `json:"access_key_id"`
		Secret string `json:"secret_access_key"`
		Token  string `json:"session_token"`
	}
	if err := json.Unmarshal(secret, &k); err != nil || k.ID == "" || k.Secret == "" {
		return nil, errors.New("the variable that blob.credentials_env names holds no credentials for S3: write JSON with access_key_id and secret_access_key")
	}
	return credentials.NewStaticCredentialsProvider(k.ID, k.Secret, k.Token), nil
}
