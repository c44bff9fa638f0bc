gate hook git @NAME@ "$@"
