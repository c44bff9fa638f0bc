module example.com/thumbs

go 1.22

require (
	github.com/go-chi/chi/v5 v5.0.12
	github.com/redis/go-redis/v9 v9.5.1
	github.com/aws/aws-sdk-go-v2/service/s3 v1.53.0
	github.com/prometheus/client_golang v1.19.0
	github.com/stretchr/testify v1.9.0
)
