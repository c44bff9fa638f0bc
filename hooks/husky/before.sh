gate hook git @NAME@ "$@" || exit $?
