variable "bucket_name" { type = string }

resource "aws_s3_bucket" "thumbs" {
  bucket = var.bucket_name
}

resource "aws_elasticache_cluster" "queue" {
  cluster_id      = "thumbs-queue"
  engine          = "redis"
  node_type       = "cache.t3.micro"
  num_cache_nodes = 1
}
